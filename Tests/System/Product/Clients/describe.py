"""Asks a server of gRPC what it can do, by reflection and health checks, with grpcio's own clients of both.

Usage: describe.py PORT. Prints the calls, a line each.
"""

import sys

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    health = health_pb2_grpc.HealthStub(channel)
    first = next(iter(health.Watch(health_pb2.HealthCheckRequest(service="quartet.v1.Quartet"))))
    assert first.status == health_pb2.HealthCheckResponse.SERVING, first
    unknown = next(iter(health.Watch(health_pb2.HealthCheckRequest(service="nonsense"))))
    assert unknown.status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN, unknown

    database = ProtoReflectionDescriptorDatabase(channel)
    pool = DescriptorPool(database)
    for name in database.get_services():
        for method in pool.FindServiceByName(name).methods:
            print(f"{name}/{method.name} {method.input_type.full_name} {method.output_type.full_name}")
